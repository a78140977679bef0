import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { brotliCompress, constants } from "node:zlib"

import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import type { Plugin } from "vite"
import { defineConfig } from "vitest/config"

const COMPRESSED = /\.(?:css|js|svg)$/
const LEAST_COMPRESSED = 1024

/** Puts a file compressed with Brotli beside each one that is worth it; `aop console` sends it to those who take it. */
function brotli(): Plugin {
  return {
    name: "brotli",
    apply: "build",
    async writeBundle({ dir = "" }, bundle) {
      const compress = promisify(brotliCompress)
      for (const name of Object.keys(bundle).filter((each) => COMPRESSED.test(each))) {
        const content = await readFile(join(dir, name))
        if (content.length < LEAST_COMPRESSED) continue
        // The next steps take many times as long for a few per cent.
        const params = {
          [constants.BROTLI_PARAM_QUALITY]: 10,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
        }
        await writeFile(join(dir, `${name}.br`), await compress(content, { params }))
      }
    },
  }
}

export default defineConfig({
  plugins: [react({ jsxImportSource: "@/components/text" }), tailwindcss(), brotli()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    // No inlined assets: the content security policy allows files of the Console's own origin only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "es2023",
    rolldownOptions: {
      output: {
        // Few files, each worth a request: what several screens need comes at once, a screen itself in one piece.
        codeSplitting: {
          groups: [
            { name: "shared", test: /node_modules|console\/src\/|rolldown\/runtime/, minShareCount: 2 },
          ],
        },
      },
    },
  },
  // The snippets in ../connect belong to the command line as well, the schemas in ../contracts to everybody.
  server: {
    host: "127.0.0.1",
    port: 8082,
    strictPort: true,
    fs: { allow: [".", "../connect", "../contracts"] },
  },
  // What is tested here are pure functions: they share one module registry instead of a process per file.
  // Those that try many values need seconds where others use the machine as well.
  test: {
    include: ["src/**/*.test.ts"],
    environment: "node",
    pool: "threads",
    isolate: false,
    testTimeout: 120_000,
  },
})
