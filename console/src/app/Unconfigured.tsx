/** Shown instead of the Console when a setting of its deployment is unusable. */

export function Unconfigured({ problem }: { readonly problem: string }) {
  return (
    <main className="mx-auto max-w-lg px-6 py-24">
      <h1 className="text-xl font-semibold">The Console is not configured</h1>
      <p role="alert" className="mt-2">
        {problem}
      </p>
      <p className="mt-2 text-muted">
        The operator of this Console must correct the setting and start{" "}
        <code className="id-text">aop console</code> again.
      </p>
    </main>
  )
}
