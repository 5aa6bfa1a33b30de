import { z } from 'zod'
import type { Finding } from '../contract/finding.ts'
import { applyMergePatch } from '../kit/merge-patch.ts'
import type { Manifest } from '../kube/object.ts'
import type { PodSettings } from '../spec/addons.ts'

/** The fields that every manifest must have. */
const schema = z.looseObject({
  apiVersion: z.string('must be text').min(1, 'is empty'),
  kind: z.string('must be text').min(1, 'is empty'),
  metadata: z.looseObject(
    {
      name: z.string('must be text').min(1, 'is empty'),
      namespace: z.string('must be text').min(1, 'is empty').optional(),
    },
    'must be a map',
  ),
})

export type ManifestParseResult =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly reason: string; readonly path: readonly (string | number)[] }

/** Parses a value as a manifest. If the value is not a manifest, the result contains the first problem. */
export function parseManifest(value: unknown): ManifestParseResult {
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return { ok: true, manifest: parsed.data }
  const [issue] = parsed.error.issues
  const path = (issue?.path ?? []).filter((part) => typeof part !== 'symbol')
  if (issue === undefined || path.length === 0) return { ok: false, reason: 'it is not a map', path }
  const problem = issue.input === undefined ? 'is missing' : issue.message
  return { ok: false, reason: `${path.join('.')} ${problem}`, path }
}

type Patch = PodSettings['patches'][number]

interface PatchResult {
  readonly manifests: readonly Manifest[]
  readonly findings: readonly Finding[]
}

/** Applies the user's patches to built-in manifests. `path` is the position of the patches in cluster.yml. */
export function applyPatches(
  manifests: readonly Manifest[],
  patches: readonly Patch[],
  path: string,
): PatchResult {
  return patches.reduce<PatchResult>(
    (before, patch, index) => {
      const after = applyPatch(before.manifests, patch, `${path}[${index}]`)
      return { manifests: after.manifests, findings: [...before.findings, ...after.findings] }
    },
    { manifests, findings: [] },
  )
}

function applyPatch(manifests: readonly Manifest[], patch: Patch, path: string): PatchResult {
  const index = manifests.findIndex(
    ({ kind, metadata }) => kind === patch.kind && metadata.name === patch.name,
  )
  const target = manifests[index]
  if (target === undefined) {
    const present = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    const message = `there is no ${patch.kind} ${patch.name} in this addon`
    return refusePatch(manifests, 'ADDON_PATCH_UNUSED', message, path, `its objects: ${present.join(', ')}`)
  }
  const reading = parseManifest(applyMergePatch(target, patch.patch))
  if (reading.ok && isSameObject(reading.manifest, target)) {
    return { manifests: manifests.with(index, reading.manifest), findings: [] }
  }
  const message = `the patch changes the identity of ${patch.kind} ${patch.name}`
  const hint = 'remove apiVersion, kind, metadata.name and metadata.namespace from the patch'
  return refusePatch(manifests, 'ADDON_PATCH_INVALID', message, path, hint)
}

/**
 * True if both manifests have the same apiVersion, kind, namespace and name. A patch must not change these
 * fields, because other objects refer to the object by them.
 */
function isSameObject(one: Manifest, other: Manifest): boolean {
  return (
    one.apiVersion === other.apiVersion &&
    one.kind === other.kind &&
    one.metadata.name === other.metadata.name &&
    one.metadata.namespace === other.metadata.namespace
  )
}

function refusePatch(
  manifests: readonly Manifest[],
  code: string,
  message: string,
  path: string,
  hint: string,
): PatchResult {
  return { manifests, findings: [{ code, severity: 'error', message, hint, path }] }
}
