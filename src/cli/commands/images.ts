import { Argument } from 'commander'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { type NeededImage, neededImages } from '../images/needed-images.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadLock } from '../load-lock.ts'
import { findingsText, print } from '../print.ts'
import { type Column, tableText } from '../table.ts'

export const images: CommandDefinition = {
  examples: [
    ['hyperkube images list', 'every image that the cluster needs, and what for'],
    ['hyperkube images list -o wide', 'with their whole digests, where cluster.lock has them'],
  ],
  configure(command) {
    command.addArgument(new Argument('<action>', 'what to do').choices(['list']))
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    const items = neededImages(cluster, await loadLock(context, options.file))
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'ImageList', items }
    const columns = options.output === 'wide' ? wide : narrow
    print(context.stdout, options.output, document, () => tableText(columns, items, context.paint))
    return exitCodes.ok
  },
}

const name: Column<NeededImage> = { head: 'NAME', cell: (one) => ({ text: one.name }) }
const image: Column<NeededImage> = { head: 'IMAGE', cell: (one) => ({ text: one.image }) }
const purpose: Column<NeededImage> = { head: 'FOR', cell: (one) => ({ text: one.for }) }

/** Enough of a digest to tell two apart. */
const enough = 'sha256:'.length + 12

const narrow = [name, image, digestColumn((digest) => digest.slice(0, enough)), purpose]
const wide = [name, image, digestColumn((digest) => digest), purpose]

function digestColumn(shown: (digest: string) => string): Column<NeededImage> {
  return {
    head: 'DIGEST',
    cell: ({ digest }) =>
      digest === undefined ? { text: 'not locked', colour: 'yellow' } : { text: shown(digest) },
  }
}
