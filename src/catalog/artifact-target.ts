import { z } from 'zod'

export const arch = z.enum(['amd64', 'arm64'])
export type Arch = z.infer<typeof arch>

/** A kind of machine. Upstream publishes the programs of a Windows node for amd64 alone. */
export type Target =
  | { readonly os: 'linux'; readonly arch: Arch }
  | { readonly os: 'windows'; readonly arch: 'amd64' }
export type Os = Target['os']
