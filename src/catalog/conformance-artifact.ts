import type { UpstreamArtifact } from './artifacts.ts'
import type { ArtifactTarget } from './artifact-target.ts'

/** Path of upstream's conformance tests in the archive. */
export const conformanceBinaryPath = 'kubernetes/test/bin/e2e.test'

/** Returns the archive with upstream's conformance tests for a target. Hosts of a cluster do not need it. */
export function conformanceArtifact(kubernetes: string, target: ArtifactTarget): UpstreamArtifact {
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
