import { Argument } from 'commander'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { type NeededImage, listNeededImages } from '../images/needed-images.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadLock } from '../load-lock.ts'
import { formatFindings, printResult } from '../print.ts'
import { type TableColumn, formatTable } from '../table.ts'

export const imagesCommand: CommandDefinition = {
  examples: [
    ['hyperkube images list', 'every image that the cluster needs, and what for'],
    ['hyperkube images list -o wide', 'with their whole digests, where cluster.lock has them'],
  ],
  configure(command) {
    command.addArgument(new Argument('<action>', 'what to do').choices(['list']))
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const items = listNeededImages(cluster, await loadLock(context, options.file))
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'ImageList', items }
    const columns = options.output === 'wide' ? wideColumns : narrowColumns
    printResult(context.stdout, options.output, document, () => formatTable(columns, items, context.paint))
    return exitCodes.ok
  },
}

const nameColumn: TableColumn<NeededImage> = { head: 'NAME', cell: (one) => ({ text: one.name }) }
const imageColumn: TableColumn<NeededImage> = { head: 'IMAGE', cell: (one) => ({ text: one.image }) }
const purposeColumn: TableColumn<NeededImage> = { head: 'FOR', cell: (one) => ({ text: one.for }) }

/** Length of a shortened digest, long enough to distinguish images. */
const shortDigestLength = 'sha256:'.length + 12

const narrowColumns = [
  nameColumn,
  imageColumn,
  buildDigestColumn((digest) => digest.slice(0, shortDigestLength)),
  purposeColumn,
]
const wideColumns = [nameColumn, imageColumn, buildDigestColumn((digest) => digest), purposeColumn]

function buildDigestColumn(formatDigest: (digest: string) => string): TableColumn<NeededImage> {
  return {
    head: 'DIGEST',
    cell: ({ digest }) =>
      digest === undefined ? { text: 'not locked', colour: 'yellow' } : { text: formatDigest(digest) },
  }
}
