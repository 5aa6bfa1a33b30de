import type { UpstreamArtifact } from './artifacts.ts'
import type { ArtifactTarget } from './artifact-target.ts'

/** Path of upstream's conformance suite inside its archive. */
export const conformanceBinaryPath = 'kubernetes/test/bin/e2e.test'

/** Upstream's published tests for one target. Cluster hosts do not need them. */
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
