/** Entry of the Console: what a sign-in brought leaves the address before anything else is loaded, then the page is drawn. */

import "@/app/styles.css"
import "@/app/arrival"

import { start } from "@/app/start"

start()
