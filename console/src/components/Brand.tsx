/** The product's mark and name, which lead home. */

import { Link } from "@tanstack/react-router"

export function Brand() {
  return (
    <Link to="/discover" className="inline-flex items-center gap-2 font-semibold tracking-tight">
      <img src="/icon.svg" alt="" width={22} height={22} />
      Agent Platform
    </Link>
  )
}
