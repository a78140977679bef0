import jsxA11y from "eslint-plugin-jsx-a11y"
import reactHooks from "eslint-plugin-react-hooks"
import { readdirSync } from "node:fs"
import tseslint from "typescript-eslint"

// Who may import whom: app > features > components > api > config. A feature never sees another feature.
const features = readdirSync(new URL("./src/features", import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)

const wall = (files, forbidden, message) => ({
  files,
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          { group: ["../*", "./*/../*"], message: "Use @/…" },
          { group: forbidden, message },
        ],
      },
    ],
  },
})

const above = {
  config: ["@/app/*", "@/features/*", "@/components/*", "@/api/*"],
  api: ["@/app/*", "@/features/*", "@/components/*"],
}

export default tseslint.config(
  { ignores: ["dist", "node_modules", "src/api/contract.gen.ts"] },
  ...tseslint.configs.strictTypeChecked,
  jsxA11y.flatConfigs.strict,
  reactHooks.configs.flat["recommended-latest"],
  {
    languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/only-throw-error": "off", // redirect() and notFound() of the router are thrown
      "@typescript-eslint/consistent-type-definitions": "off",
      "@typescript-eslint/consistent-type-imports": "error",
      "max-lines": ["error", 350],
      "jsx-a11y/label-has-associated-control": ["error", { depth: 4 }],
      "no-console": "error",
      "no-restricted-globals": [
        "error",
        { name: "fetch", message: "Requests are made in @/api/http and @/api/stream." },
        { name: "localStorage", message: "Kept choices live in @/config/preferences." },
        { name: "sessionStorage", message: "The token lives in @/api/session." },
      ],
    },
  },
  { files: ["src/api/{http,stream}.ts"], rules: { "no-restricted-globals": "off" } },
  { files: ["src/api/session.ts", "src/config/preferences.ts"], rules: { "no-restricted-globals": "off" } },
  { files: ["*.js"], ...tseslint.configs.disableTypeChecked },
  wall(["src/config/**"], above.config, "config is the lowest layer."),
  wall(["src/api/**"], above.api, "api sees config only."),
  wall(["src/components/**"], ["@/app/*", "@/features/*"], "components see api and config only."),
  ...features.map((name) =>
    wall(
      [`src/features/${name}/**`],
      ["@/app/*", ...features.filter((other) => other !== name).map((other) => `@/features/${other}/*`)],
      "A feature imports api, components, config and itself.",
    ),
  ),
)
