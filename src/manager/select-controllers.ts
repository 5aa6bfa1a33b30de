import { HyperkubeError } from '../kit/errors.ts'
import { suggestWord, toPrintable } from '../kit/text.ts'
import type { ControllerDefinition } from './controller.ts'

/**
 * Selects controllers by a list such as `*,-foo`, as in kube-controller-manager. A name enables a controller,
 * and a name with a minus disables it. The first entry for a controller wins. `*` adds all others that are on
 * by default.
 */
export function selectControllers(
  definitions: readonly ControllerDefinition[],
  selectors: readonly string[],
): ControllerDefinition[] {
  const byName = new Map(
    definitions.flatMap((definition) =>
      [definition.name, ...definition.aliases].map((name) => [name, definition] as const),
    ),
  )
  const choices = new Map<ControllerDefinition, boolean>()
  let includeDefaults = false
  for (const selector of selectors) {
    if (selector === '*') {
      includeDefaults = true
      continue
    }
    const name = selector.replace(/^-/, '')
    const definition = byName.get(name)
    if (definition === undefined) throw buildUnknownError(name, [...byName.keys()])
    if (!choices.has(definition)) choices.set(definition, name === selector)
  }
  return definitions.filter(
    (definition) => choices.get(definition) ?? (includeDefaults && definition.byDefault),
  )
}

function buildUnknownError(name: string, known: readonly string[]): HyperkubeError {
  const suggestion = suggestWord(name, known)
  return new HyperkubeError('MANAGER_CONTROLLER_UNKNOWN', `there is no controller ${toPrintable(name)}`, {
    hint: suggestion === undefined ? 'hyperkube controller-manager list' : `did you mean ${suggestion}?`,
  })
}

/**
 * Throws if a name is invalid or used by two controllers, because the Kubernetes user of a controller is
 * named after it.
 */
export function checkControllerNames(definitions: readonly ControllerDefinition[]): void {
  const names = definitions.flatMap(({ name, aliases }) => [name, ...aliases])
  const duplicate = names.find((name, at) => names.indexOf(name) !== at)
  if (duplicate !== undefined) throw new Error(`two controllers are called ${duplicate}`)
  const invalid = names.find((name) => !/^[a-z][a-z0-9-]*$/.test(name))
  if (invalid !== undefined) throw new Error(`${invalid} is not a valid controller name`)
}
