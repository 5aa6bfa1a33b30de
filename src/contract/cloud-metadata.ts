/**
 * Route destinations of cloud metadata services. A Windows host loses these routes when a virtual switch
 * takes over its adapter.
 */
export const cloudMetadata = {
  none: [],
  // Besides metadata: time, Windows licensing (two addresses), DNS.
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

/** All destinations to check on a host. */
export const metadataDestinations: readonly string[] = [
  ...new Set<string>(Object.values(cloudMetadata).flat()),
].toSorted()
