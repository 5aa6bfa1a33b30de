import type { ControllerRow } from '../../manager/controller.ts'
import { rightText } from '../../manager/right-text.ts'
import type { Paint } from '../command.ts'
import { tableText } from '../table.ts'

/** The table of controllers, for programs. */
export function tableDocument(rows: readonly ControllerRow[], chosen: readonly ControllerRow[]): object {
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
      rights: row.rights,
    })),
  }
}

/** The same for people; with what each watches and may do, where they want it wide. */
export function controllersText(
  rows: readonly ControllerRow[],
  chosen: readonly ControllerRow[],
  paint: Paint,
  wide: boolean,
): string {
  const summary = { head: 'WHAT IT DOES', cell: (row: ControllerRow) => ({ text: row.summary }) }
  const columns = [
    { head: 'CONTROLLER', cell: ({ name }: ControllerRow) => ({ text: name }) },
    { head: 'ON', cell: (row: ControllerRow) => ({ text: chosen.includes(row) ? 'yes' : 'no' }) },
    { head: 'DEFAULT', cell: ({ byDefault }: ControllerRow) => ({ text: byDefault ? 'on' : 'off' }) },
  ]
  const more = [
    {
      head: 'WATCHES',
      cell: ({ watches }: ControllerRow) => ({ text: watches.map(({ name }) => name).join(', ') }),
    },
    summary,
    // Last, because it may be long.
    { head: 'MAY', cell: ({ rights }: ControllerRow) => ({ text: rights.map(rightText).join('; ') }) },
  ]
  return tableText([...columns, ...(wide ? more : [summary])], rows, paint)
}
