/** The first thing that happens: the address as it was opened is noted, and loses what a sign-in brought. */

import { takeFromAddress } from "@/api/arrival"
import { noteOpenedAddress } from "@/config/shareLink"

takeFromAddress()
noteOpenedAddress()
