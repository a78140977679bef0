/** Hands a value to the browser as a JSON file to keep. */

export function downloadJson(name: string, value: unknown): void {
  const file = new Blob([JSON.stringify(value, null, 2), "\n"], { type: "application/json" })
  const address = URL.createObjectURL(file)
  const link = document.createElement("a")
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
