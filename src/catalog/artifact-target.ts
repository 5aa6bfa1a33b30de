import { z } from 'zod'

export const archSchema = z.enum(['amd64', 'arm64'])
export type Arch = z.infer<typeof archSchema>

/**
 * Operating system and architecture of a host. Windows is limited to amd64, because upstream publishes no
 * other programs for Windows nodes.
 */
export type ArtifactTarget =
  | { readonly os: 'linux'; readonly arch: Arch }
  | { readonly os: 'windows'; readonly arch: 'amd64' }
export type Os = ArtifactTarget['os']
