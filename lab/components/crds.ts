import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import type { BuiltPart } from './build.ts'

/** File with the CRDs of MetalLB, which its addon applies. */
export const crdsFile = join(import.meta.dirname, '../../src/addons/built-in/metallb-crds.json')

const crdSchema = z.looseObject({
  apiVersion: z.literal('apiextensions.k8s.io/v1'),
  kind: z.literal('CustomResourceDefinition'),
  metadata: z.object({ name: z.string() }),
})

/** A CRD of upstream without descriptions and annotations. */
export type Crd = z.infer<typeof crdSchema>

/**
 * Reads the CRDs that a part copied from upstream's sources. Descriptions are left out, because they are two
 * thirds of the text, and the plan of each control plane contains the objects of addons.
 */
export async function readCrds({ part, directory }: BuiltPart): Promise<Crd[]> {
  const files = (part.files ?? []).map((file) => join(directory, basename(file)))
  const texts = await Promise.all(files.map(async (file) => readFile(file, 'utf8')))
  return texts.map((text) => crdSchema.parse(removeDescriptions(parse(text))))
}

/** Removes texts with the key `description`. A property of that name has a map as its value and stays. */
function removeDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(removeDescriptions)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, child]) => key !== 'description' || typeof child !== 'string')
      .map(([key, child]) => [key, removeDescriptions(child)]),
  )
}
