import type { Right } from './controller.ts'

/** A right as people read it. */
export function rightText({ verbs, resources = [], nonResourceURLs = [], namespace }: Right): string {
  const where = namespace === undefined ? '' : ` in ${namespace}`
  return `${verbs.join(', ')} ${[...resources, ...nonResourceURLs].join(', ')}${where}`
}
