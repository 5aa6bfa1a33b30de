import type { Manifest } from '../../kube/object.ts'
import { describeReference, isSecret, toReference } from '../reference.ts'

/**
 * Length from which a value is also searched inside of longer texts. Shorter values would be found by
 * chance.
 */
const minSearchLength = 6

/**
 * Describes the objects that contain a secret value outside of the data of a Secret. Plans and `addon diff`
 * show such objects, and many users of a cluster may read them.
 */
export function findExposedSecrets(manifests: readonly Manifest[], values: readonly string[]): string[] {
  const forms = values.filter((value) => value !== '').flatMap(listForms)
  return manifests
    .filter((manifest) => containsAny(hideSecretData(manifest), forms))
    .map((manifest) => describeReference(toReference(manifest)))
}

/** Replaces secret values in a text that is shown, such as an error of Helm. */
export function redactSecrets(text: string, values: readonly string[]): string {
  return values
    .filter((value) => value !== '')
    .flatMap(listForms)
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, form) => shown.replaceAll(form, '[secret]'), text)
}

/** Lists the ways in which charts write a value: plain, in base64, in a URL and as a JSON string. */
function listForms(value: string): string[] {
  return [
    ...new Set([
      value,
      Buffer.from(value).toString('base64'),
      encodeURIComponent(value),
      JSON.stringify(value).slice(1, -1),
    ]),
  ]
}

function hideSecretData(manifest: Manifest): unknown {
  if (!isSecret(manifest)) return manifest
  const { data: _data, stringData: _stringData, ...rest } = manifest
  return rest
}

function containsAny(value: unknown, forms: readonly string[]): boolean {
  if (typeof value === 'string') {
    return forms.some((form) => value === form || (form.length >= minSearchLength && value.includes(form)))
  }
  if (typeof value !== 'object' || value === null) return forms.includes(String(value))
  return Object.entries(value).some(([key, child]) => containsAny(key, forms) || containsAny(child, forms))
}
