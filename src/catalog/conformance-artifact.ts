import type { UpstreamArtifact } from './artifacts.ts'
import type { Target } from './artifact-target.ts'

/** Where upstream's conformance suite is inside the archive that it comes in. */
export const suiteMember = 'kubernetes/test/bin/e2e.test'

/** Upstream's own tests, as it publishes them for a kind of machine that they run on. Of a host nothing of it is needed. */
export function conformanceArtifact(kubernetes: string, target: Target): UpstreamArtifact {
  const url = `https://dl.k8s.io/v${kubernetes}/kubernetes-test-${target.os}-${target.arch}.tar.gz`
  return {
    from: 'upstream',
    component: 'kubernetes-test',
    version: kubernetes,
    ...target,
    url,
    checksum: { url: `${url}.sha256`, format: 'bare' },
  }
}
