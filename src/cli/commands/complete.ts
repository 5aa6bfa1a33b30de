import { Argument } from 'commander'
import { listDefaultVersions } from '../../catalog/catalog.ts'
import { loadCatalog } from '../../workspace/load-catalog.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { exitCodes, type LeafCommand } from '../command/command.ts'
import { completeWords, type CompletionTable } from '../completion/complete-words.ts'

/** Builds the command that completion scripts call. It prints one candidate and its explanation per line. */
export function buildCompleteCommand(table: CompletionTable): LeafCommand {
  return {
    examples: [['hyperkube complete -- node remo', 'print candidates for the last word']],
    sharedFlags: ['file'],
    configure: (command) => command.addArgument(new Argument('[word...]', 'words after hyperkube')),
    async run(context, { args, options }) {
      // Errors are dropped, because a shell cannot show an error while it completes a word.
      const candidates = await completeWords(args, table, {
        cluster: async (file = options.file) =>
          loadCluster(context, file).then(
            ({ cluster }) => cluster,
            () => undefined,
          ),
        versions: async (file = options.file) =>
          loadCatalog(context, file).then(listDefaultVersions, () => []),
      })
      context.stdout.write(candidates.map(({ word, about }) => `${word}\t${about}\n`).join(''))
      return exitCodes.ok
    },
  }
}
