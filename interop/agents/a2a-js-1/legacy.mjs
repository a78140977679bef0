// @a2a-js/sdk 1.x that also answers A2A 0.3.
import { serve } from "./chat.mjs";

serve(["1.0", "0.3"]);
