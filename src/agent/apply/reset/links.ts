import type { LinuxLeftoverStep } from './leftover-step.ts'

/** Removes network links of pods and the routes through them. */
export const removeLinks: LinuxLeftoverStep = async ({ packets }, { links }) => {
  const podLinks = (await packets.links()).filter((name) => links.some((pattern) => pattern.test(name)))
  for (const name of podLinks) await packets.removeLink(name)
  return podLinks
}
