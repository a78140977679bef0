/** The same for `vite dev`, which asks for elements by another name. */

import { Fragment, jsx, type JSX } from "@/components/text/jsx-runtime"

export { Fragment, type JSX }

export const jsxDEV = jsx
