/** The width of an element, kept up to date; 0 until it is known. */

import { useEffect, useRef, useState, type RefObject } from "react"

export function useWidth<Each extends HTMLElement>(): [RefObject<Each | null>, number] {
  const element = useRef<Each>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const measured = element.current
    if (measured === null) return undefined
    const observer = new ResizeObserver(() => setWidth(measured.clientWidth))
    observer.observe(measured)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
