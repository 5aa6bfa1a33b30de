/**
 * Where a host finds what was brought to it, so that it need not fetch anything. Whoever brings it and the agent that
 * takes it must agree; only root can look in.
 */
export const deliveries = '/var/lib/hyperkube/agent/delivered'

/** The same on a Windows host, below the directory that cluster.yml names for it. */
export function windowsDeliveries(base: string): string {
  return String.raw`${base.replace(/\\+$/, '')}\state\agent\delivered`
}

/** A file, by the sha256 of its content in hex. */
export function deliveredFile(sha256: string): string {
  return `files/${sha256}`
}

/** An archive of an image, by the digest of what describes the image: sha256:… */
export function deliveredImage(digest: string): string {
  return `images/${digest.replace('sha256:', '')}.tar`
}
