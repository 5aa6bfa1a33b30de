import type { Step } from './linux-leftover-step.ts'

/** Network links of pods, with the routes through them. */
export const removeLinks: Step = async ({ packets }, { links }) => {
  const ours = (await packets.links()).filter((name) => links.some((pattern) => pattern.test(name)))
  for (const name of ours) await packets.removeLink(name)
  return ours
}
