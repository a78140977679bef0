/** Entry of the Console: what a sign-in brought leaves the address first, then the page is drawn. */

import "@/app/styles.css"

import { takeFromAddress } from "@/api/arrival"
import { noteOpenedAddress } from "@/config/shareLink"

takeFromAddress()
noteOpenedAddress()
void import("@/app/start").then(({ start }) => start())
