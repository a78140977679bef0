import { fileURLToPath } from "node:url"

import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vitest/config"

export default defineConfig({
  plugins: [react({ jsxImportSource: "@/components/text" }), tailwindcss()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    // No inlined assets: the content security policy allows files of the Console's own origin only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "es2023",
  },
  // The snippets in ../connect belong to the command line as well.
  server: { host: "127.0.0.1", port: 8082, strictPort: true, fs: { allow: [".", "../connect"] } },
  // What is tested here are pure functions: they share one module registry instead of a process per file.
  test: { include: ["src/**/*.test.ts"], environment: "node", pool: "threads", isolate: false },
})
