import type { Finding } from '../contract/finding.ts'
import { mergePatch } from '../kit/merge-patch.ts'
import type { Manifest } from '../kube/object.ts'
import type { PodSettings } from '../spec/addons.ts'
import { readManifest } from './manifest.ts'

type Patch = PodSettings['patches'][number]

export interface Patched {
  readonly manifests: readonly Manifest[]
  readonly findings: readonly Finding[]
}

/** What a user changes about manifests of ours. `path` is where the patches are in cluster.yml. */
export function patched(manifests: readonly Manifest[], patches: readonly Patch[], path: string): Patched {
  return patches.reduce<Patched>(
    (before, patch, index) => {
      const after = patchedOnce(before.manifests, patch, `${path}[${index}]`)
      return { manifests: after.manifests, findings: [...before.findings, ...after.findings] }
    },
    { manifests, findings: [] },
  )
}

function patchedOnce(manifests: readonly Manifest[], patch: Patch, path: string): Patched {
  const at = manifests.findIndex(({ kind, metadata }) => kind === patch.kind && metadata.name === patch.name)
  const target = manifests[at]
  if (target === undefined) {
    const there = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    const message = `there is no ${patch.kind} ${patch.name} in this addon`
    return refused(manifests, 'ADDON_PATCH_UNUSED', message, path, `there are: ${there.join(', ')}`)
  }
  const reading = readManifest(mergePatch(target, patch.patch))
  if (reading.ok && isSame(reading.manifest, target)) {
    return { manifests: manifests.with(at, reading.manifest), findings: [] }
  }
  const message = `it makes ${patch.kind} ${patch.name} another object`
  const hint = 'leave out apiVersion, kind, metadata.name and metadata.namespace'
  return refused(manifests, 'ADDON_PATCH_WRONG', message, path, hint)
}

/** Others refer to it by these. */
function isSame(one: Manifest, other: Manifest): boolean {
  return (
    one.apiVersion === other.apiVersion &&
    one.kind === other.kind &&
    one.metadata.name === other.metadata.name &&
    one.metadata.namespace === other.metadata.namespace
  )
}

function refused(
  manifests: readonly Manifest[],
  code: string,
  message: string,
  path: string,
  hint: string,
): Patched {
  return { manifests, findings: [{ code, severity: 'error', message, hint, path }] }
}
