import { describe, expect, test } from 'vitest'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents, readReportedVersion } from '../../lab/components/build.ts'
import { formatPartId, selectParts } from '../../lab/components/parts.ts'
import { terminalReport } from '../../lab/report.ts'

const built = await buildComponents(selectParts(), { cache: cacheDirectory(), report: terminalReport() })

describe.each(built.map((part) => ({ id: formatPartId(part.part), part })))('$id', ({ part }) => {
  test.each(part.part.programs.map((program) => ({ name: program.name, program })))(
    '$name reports its true version',
    async ({ program }) => {
      const version = part.part.version.slice(1).replaceAll('.', String.raw`\.`)
      expect(await readReportedVersion(part, program)).toMatch(new RegExp(`(^|[^\\d.])${version}($|[^\\d.])`))
    },
  )
})
