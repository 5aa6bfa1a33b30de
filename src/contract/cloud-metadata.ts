/**
 * Route destinations of cloud metadata services. A Windows host loses these routes when a virtual switch
 * takes over its adapter.
 */
export const cloudMetadata = {
  none: [],
  // AWS uses further addresses for time, Windows licensing (two) and DNS.
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

/** Metadata destinations of all clouds. The agent checks which of them have a route. */
export const metadataDestinations: readonly string[] = [
  ...new Set<string>(Object.values(cloudMetadata).flat()),
].toSorted()
