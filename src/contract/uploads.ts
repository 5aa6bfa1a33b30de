/**
 * Directory for files that a client uploads, so that the host need not download them. Client and agent must
 * use the same path. Only root can read it.
 */
export const uploadDirectory = '/var/lib/hyperkube/agent/delivered'

/** Upload directory on a Windows host, below the base directory from cluster.yml. */
export function windowsUploadDirectory(base: string): string {
  return String.raw`${base.replace(/\\+$/, '')}\state\agent\delivered`
}

/**
 * Path of an uploaded file, relative to the upload directory. `sha256` is the digest of its content in hex.
 */
export function uploadedFilePath(sha256: string): string {
  return `files/${sha256}`
}

/**
 * Path of an uploaded image archive, relative to the upload directory. `digest` is the digest of the image
 * manifest: sha256:…
 */
export function uploadedImagePath(digest: string): string {
  return `images/${digest.replace('sha256:', '')}.tar`
}
