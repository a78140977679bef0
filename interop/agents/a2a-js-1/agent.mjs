// @a2a-js/sdk 1.x as it is by default: A2A 1.0 alone.
import { serve } from "./chat.mjs";

serve(["1.0"]);
