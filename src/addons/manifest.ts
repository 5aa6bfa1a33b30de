import { z } from 'zod'
import type { Manifest } from '../kube/object.ts'

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

/** Parses a value as a manifest. If it is not a manifest, the result holds the first reason. */
export function parseManifest(value: unknown): ManifestParseResult {
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return { ok: true, manifest: parsed.data }
  const [issue] = parsed.error.issues
  const path = (issue?.path ?? []).filter((part) => typeof part !== 'symbol')
  if (issue === undefined || path.length === 0) return { ok: false, reason: 'it is not a map', path }
  const problem = issue.input === undefined ? 'is missing' : issue.message
  return { ok: false, reason: `${path.join('.')} ${problem}`, path }
}
