/** Opens a share link that somebody sent; any other text is refused. */

import { useNavigate } from "@tanstack/react-router"
import { Link2 } from "lucide-react"
import { useState } from "react"

import { Button } from "@/components/Button"
import { Dialog } from "@/components/Dialog"
import { Field, TextInput } from "@/components/Field"
import { runtimeConfig } from "@/config/runtime"
import { publicAgentIdOf } from "@/config/shareLink"

export function OpenShareLink() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button size="small" tone="quiet" onClick={() => setOpen(true)}>
        <Link2 aria-hidden />
        Open a share link
      </Button>
      {open ? <ShareLinkDialog onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function ShareLinkDialog({ onClose }: { readonly onClose: () => void }) {
  const { publicAgentOrigin } = runtimeConfig()
  const navigate = useNavigate()
  const [refused, setRefused] = useState(false)
  const submit = (link: string) => {
    const publicAgentId = publicAgentIdOf(link, publicAgentOrigin)
    if (publicAgentId === undefined) setRefused(true)
    else void navigate({ to: "/a/$publicAgentId", params: { publicAgentId } })
  }
  return (
    <Dialog open onClose={onClose} title="Open a share link">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          const link = new FormData(event.currentTarget).get("link")
          submit(typeof link === "string" ? link : "")
        }}
      >
        <Field
          label="Link"
          hint={`${publicAgentOrigin}/a/agt_…`}
          error={
            refused
              ? "This is not a share link of this platform. It must be exactly the link that was shared."
              : undefined
          }
        >
          {(control) => (
            <TextInput {...control} name="link" className="font-mono" onChange={() => setRefused(false)} />
          )}
        </Field>
        <div className="flex justify-end">
          <Button type="submit" tone="primary">
            Open
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
