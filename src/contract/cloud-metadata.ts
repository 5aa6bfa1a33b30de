/**
 * Where clouds tell their machines about themselves, as destinations of routes. Such routes are lost when a switch takes the
 * adapter of a Windows host.
 */
export const cloudMetadata = {
  none: [],
  // Beside the metadata: time, licences of Windows (two), names.
  aws: [
    '169.254.169.254/32',
    '169.254.169.123/32',
    '169.254.169.250/32',
    '169.254.169.251/32',
    '169.254.169.253/32',
  ],
  azure: ['169.254.169.254/32'],
  gcp: ['169.254.169.254/32'],
} as const

/** All of them, to be looked for on a host. */
export const metadataDestinations: readonly string[] = [
  ...new Set<string>(Object.values(cloudMetadata).flat()),
].toSorted()
