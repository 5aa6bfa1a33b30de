/**
 * Directory for uploads, so that a host needs no download. The client that uploads and the agent must agree
 * on it; only root can read it.
 */
export const uploadDirectory = '/var/lib/hyperkube/agent/delivered'

/** The same on a Windows host, below the base directory from cluster.yml. */
export function windowsUploadDirectory(base: string): string {
  return String.raw`${base.replace(/\\+$/, '')}\state\agent\delivered`
}

/** Path of an uploaded file, by the SHA-256 of its content in hex. */
export function uploadedFilePath(sha256: string): string {
  return `files/${sha256}`
}

/** Path of an uploaded image archive, by the digest of the image manifest: sha256:… */
export function uploadedImagePath(digest: string): string {
  return `images/${digest.replace('sha256:', '')}.tar`
}
