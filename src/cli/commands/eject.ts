import { Option } from 'commander'
import { z } from 'zod'
import { eject } from '../../actions/eject.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { loadClusterInputs } from '../../workspace/load-inputs.ts'
import { exitCodes, type LeafCommand } from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { addRunFlags, runFlags } from '../command/run-flags.ts'
import { runAction } from '../run/run-action.ts'
import { resultNames } from '../run/run-with-progress.ts'

const flags = runFlags.extend({
  to: z.literal('kubeadm'),
  out: z.string(),
  dryRun: z.boolean().default(false),
})

export const ejectCommand: LeafCommand = {
  examples: [
    ['hyperkube eject --to kubeadm --dry-run', 'list the files, and what becomes of each component'],
    [
      'hyperkube eject --to kubeadm --out eject',
      'prompt, then write manifests, certificates, keys and a script for each host; change no host',
    ],
    ['less eject/README.md', 'read the order of the hosts, and how to return'],
  ],
  sharedFlags: ['file', 'key', 'output', 'confirm'],
  configure(command) {
    addRunFlags(command)
      .addOption(
        new Option('--to <tool>', 'set the tool that manages the cluster afterwards')
          .choices(['kubeadm'])
          .makeOptionMandatory(),
      )
      .option('--out <directory>', 'write the files here; the directory must not exist', 'eject')
      .option('--dry-run', 'list the files, without writing them; exit code 3')
  },
  async run(context, { options }) {
    const { out: directory, dryRun, ignore, forgetHostKey, progress } = flags.parse(options)
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const inputs = await loadClusterInputs(context, options, cluster)
    const { name } = cluster.metadata
    const { code, outcome } = await runAction(
      context,
      options,
      { command: 'eject', cluster: name, progress },
      async (run) =>
        eject(
          context,
          inputs,
          { files: options, forgetHostKeys: forgetHostKey, ignore, directory, dryRun },
          run,
        ),
    )
    if (code === exitCodes.usage) return code
    const { components = [], files = [] } = outcome ?? {}
    const document = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'EjectResult',
      cluster: name,
      outcome: resultNames[code],
      directory,
      components,
      files,
    }
    printResult(context.stdout, options.output, document, () => {
      if (files.length === 0) return ''
      const list = files.map((file) => `${file}\n`).join('')
      return dryRun || options.output === 'wide'
        ? list
        : `${files.length} files in ${directory}, which contains the keys of the cluster\n  → less ${directory}/README.md\n`
    })
    return code
  },
}
