/** The product's mark and name, which lead home. */

import { Link } from "@tanstack/react-router"

export function Brand() {
  return (
    <Link to="/discover" className="inline-flex items-center gap-2 font-semibold tracking-tight">
      {/* The same as icon.svg, without a request for it. */}
      <svg aria-hidden viewBox="0 0 32 32" fill="none" width={22} height={22}>
        <rect width="32" height="32" rx="8" fill="#4353d9" />
        <path
          d="M9 22.5 16 9l7 13.5M12.4 17h7.2"
          stroke="#fff"
          strokeWidth="2.6"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
        <circle cx="16" cy="9" r="2.6" fill="#fff" />
      </svg>
      Agent Platform
    </Link>
  )
}
