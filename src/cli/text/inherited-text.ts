import { toPrintable } from '../../kit/text.ts'
import type { InheritedValue } from '../../spec/inherit.ts'
import type { Paint } from '../command/command.ts'

/** Formats the values that a cluster inherits, each with its line in fleet.yml. */
export function formatInherited(inherited: readonly InheritedValue[], paint: Paint): string {
  if (inherited.length === 0) return ''
  const lines = inherited.map(
    ({ path, position }) => `  ${toPrintable(`${path} from ${position.file}:${position.line}`)}\n`,
  )
  return `${paint('bold', 'inherited')}\n${lines.join('')}`
}
