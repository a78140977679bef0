/** Entry of the Console: the token leaves the address first, then the page is drawn. */

import "@/app/styles.css"

import { takeFromFragment } from "@/api/session"
import { noteOpenedAddress } from "@/config/shareLink"

takeFromFragment()
noteOpenedAddress()
void import("@/app/start").then(({ start }) => start())
