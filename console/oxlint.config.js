import { readdirSync } from "node:fs"

const on = (plugin, names) =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [plugin ? `${plugin}/${name}` : name, "error"]),
  )

const wall = (files, forbidden, message) => ({
  files,
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          { regex: "^(\\./.*)?\\.\\./", message: "Use @/…" },
          { group: forbidden, message },
        ],
      },
    ],
  },
})

// Who may import whom: app > features > domain > components > api > config. A feature never sees another feature.
const features = readdirSync(new URL("./src/features", import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)

export default {
  plugins: ["typescript", "jsx-a11y", "react"],
  categories: { correctness: "error" },
  options: { typeAware: true },
  ignorePatterns: ["*.js", "dist", "node_modules", "src/api/contract.gen.ts"],
  rules: {
    ...on("", "no-array-constructor no-console no-unused-expressions no-useless-constructor no-var"),
    ...on("", "prefer-const prefer-rest-params prefer-spread"),
    ...on(
      "typescript",
      `consistent-type-imports no-deprecated no-dynamic-delete no-empty-object-type no-explicit-any
       no-extraneous-class no-generated-empty-object-type no-invalid-void-type no-misused-promises no-mixed-enums
       no-namespace no-non-null-asserted-nullish-coalescing no-non-null-assertion no-require-imports
       no-unnecessary-boolean-literal-compare no-unnecessary-condition no-unnecessary-template-expression
       no-unnecessary-type-arguments no-unnecessary-type-assertion no-unnecessary-type-constraint
       no-unnecessary-type-conversion no-unnecessary-type-parameters no-unsafe-argument no-unsafe-assignment
       no-unsafe-call no-unsafe-enum-comparison no-unsafe-function-type no-unsafe-member-access no-unsafe-return
       prefer-literal-enum-member prefer-promise-reject-errors prefer-reduce-type-parameter
       prefer-return-this-type related-getter-setter-pairs require-await unified-signatures
       use-unknown-in-catch-callback-variable`,
    ),
    "typescript/ban-ts-comment": ["error", { minimumDescriptionLength: 10 }],
    "typescript/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
    "typescript/restrict-plus-operands": [
      "error",
      {
        allowAny: false,
        allowBoolean: false,
        allowNullish: false,
        allowNumberAndString: false,
        allowRegExp: false,
      },
    ],
    "typescript/restrict-template-expressions": ["error", { allowNumber: true }],
    "typescript/return-await": ["error", "error-handling-correctness-only"],
    ...on(
      "react",
      `error-boundaries exhaustive-deps globals immutability incompatible-library preserve-manual-memoization
       purity refs rules-of-hooks set-state-in-effect set-state-in-render static-components unsupported-syntax
       use-memo void-use-memo`,
    ),
    ...on("jsx-a11y", "no-noninteractive-element-interactions no-static-element-interactions"),
    "jsx-a11y/interactive-supports-focus": [
      "error",
      {
        tabbable: [
          "button",
          "checkbox",
          "link",
          "progressbar",
          "searchbox",
          "slider",
          "spinbutton",
          "switch",
          "textbox",
        ],
      },
    ],
    "jsx-a11y/prefer-tag-over-role": "off", // a role on the element that fits the layout says the same
    "jsx-a11y/label-has-associated-control": ["error", { depth: 4 }],
    "max-lines": ["error", 350],
    "no-restricted-globals": [
      "error",
      { name: "fetch", message: "Requests are made in @/api/http, @/api/stream and @/api/oidc." },
      { name: "localStorage", message: "Kept choices live in @/config/preferences." },
      { name: "sessionStorage", message: "The token lives in @/api/session, inputs in @/api/recentInputs." },
    ],
  },
  overrides: [
    {
      files: [
        "src/api/{http,stream,session,recentInputs}.ts",
        "src/api/oidc/{login,provider}.ts",
        "src/config/preferences.ts",
      ],
      rules: { "no-restricted-globals": "off" },
    },
    wall(
      ["src/config/**"],
      ["@/app/**", "@/features/**", "@/domain/**", "@/components/**", "@/api/**"],
      "config is the lowest layer.",
    ),
    wall(
      ["src/api/**"],
      ["@/app/**", "@/features/**", "@/domain/**", "@/components/**"],
      "api sees config only.",
    ),
    wall(
      ["src/components/**"],
      ["@/app/**", "@/features/**", "@/domain/**"],
      "components see api and config only.",
    ),
    wall(["src/domain/**"], ["@/app/**", "@/features/**"], "domain sees components, api and config only."),
    ...features.map((name) =>
      wall(
        [`src/features/${name}/**`],
        ["@/app/**", ...features.filter((other) => other !== name).map((other) => `@/features/${other}/**`)],
        "A feature imports domain, components, api, config and itself.",
      ),
    ),
  ],
}
