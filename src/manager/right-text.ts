import type { ControllerRule } from './controller.ts'

export function formatRule({
  verbs,
  resources = [],
  nonResourceURLs = [],
  namespace,
}: ControllerRule): string {
  const suffix = namespace === undefined ? '' : ` in ${namespace}`
  return `${verbs.join(', ')} ${[...resources, ...nonResourceURLs].join(', ')}${suffix}`
}
