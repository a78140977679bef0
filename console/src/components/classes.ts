/** Joins class names; of two that set the same thing the later one wins. */

import { clsx, type ClassValue } from "clsx"
import { twMerge } from "tailwind-merge"

export function cn(...values: ClassValue[]): string {
  return twMerge(clsx(values))
}
