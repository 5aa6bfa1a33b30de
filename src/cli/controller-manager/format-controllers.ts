import type { ControllerDefinition } from '../../manager/controller.ts'
import { formatRule } from '../../manager/rbac.ts'
import type { Paint } from '../command.ts'
import { formatTable } from '../table.ts'

/** Builds the list of controllers as a versioned document. */
export function buildControllerList(
  rows: readonly ControllerDefinition[],
  chosen: readonly ControllerDefinition[],
): object {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ControllerList',
    controllers: rows.map((row) => ({
      name: row.name,
      aliases: row.aliases,
      summary: row.summary,
      byDefault: row.byDefault,
      on: chosen.includes(row),
      watches: row.watches.map(({ name }) => name),
      rules: row.rules,
    })),
  }
}

/** Formats the list of controllers as a table. `wide` adds the watched objects and RBAC rules. */
export function formatControllers(
  rows: readonly ControllerDefinition[],
  chosen: readonly ControllerDefinition[],
  paint: Paint,
  wide: boolean,
): string {
  const summary = { head: 'WHAT IT DOES', cell: (row: ControllerDefinition) => ({ text: row.summary }) }
  const columns = [
    { head: 'CONTROLLER', cell: ({ name }: ControllerDefinition) => ({ text: name }) },
    { head: 'ON', cell: (row: ControllerDefinition) => ({ text: chosen.includes(row) ? 'yes' : 'no' }) },
    { head: 'DEFAULT', cell: ({ byDefault }: ControllerDefinition) => ({ text: byDefault ? 'on' : 'off' }) },
  ]
  const wideColumns = [
    {
      head: 'WATCHES',
      cell: ({ watches }: ControllerDefinition) => ({ text: watches.map(({ name }) => name).join(', ') }),
    },
    summary,
    // This column is the last one, because it may be long.
    { head: 'MAY', cell: ({ rules }: ControllerDefinition) => ({ text: rules.map(formatRule).join('; ') }) },
  ]
  return formatTable([...columns, ...(wide ? wideColumns : [summary])], rows, paint)
}
