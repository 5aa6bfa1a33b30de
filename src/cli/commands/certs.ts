import { Argument } from 'commander'
import type { CertsAction } from '../certs/action.ts'
import { listCertificates } from '../certs/list.ts'
import { renewClusterCertificates } from '../certs/renew.ts'
import { rotateCas, rotateKey } from '../certs/rotate-keys.ts'
import { type CommandDefinition, exitCodes } from '../command/command.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { formatFindings } from '../command/print.ts'
import { addRunFlags } from '../command/run-flags.ts'
import { addUpFlags } from '../up/up-flags.ts'

const actions: ReadonlyMap<string, CertsAction> = new Map([
  ['list', listCertificates],
  ['renew', renewClusterCertificates],
  ['rotate-ca', rotateCas],
  ['rotate-key', rotateKey],
])

export const certsCommand: CommandDefinition = {
  examples: [
    ['hyperkube certs list', 'every certificate of every host: whose it is, until when, and when it is due'],
    ['hyperkube certs renew', 'show which are due, ask, and renew them; also those that have expired'],
    ['hyperkube certs renew w1 w2 --all', 'new keys for all certificates of two hosts'],
    ['hyperkube certs rotate-ca etcd --dry-run', 'say what the next of three phases would do'],
    ['hyperkube certs rotate-ca kubernetes', 'a new CA: trust both, switch, distrust the previous one'],
    ['hyperkube certs rotate-ca all --yes --restart-pods', 'all three, with pods that must learn of it'],
    ['hyperkube certs rotate-key encryption', 'a new key for Secrets in etcd, and write all of them with it'],
    [
      'hyperkube certs rotate-key service-account',
      'a new key for tokens; run again after an hour to drop the previous one',
    ],
    ['hyperkube certs rotate-key identity', 'seal cluster.identity with another key'],
  ],
  identity: true,
  configure(command) {
    command
      .addArgument(new Argument('<action>', 'what to do').choices([...actions.keys()]))
      .addArgument(new Argument('[name...]', 'list, renew: hosts; rotate-ca, rotate-key: which'))
      .option('--all', 'renew: also certificates that are good for long')
      .option('--to <file>', 'rotate-key identity: where the new key goes; default: beside the previous one')
      .option('--restart-pods', 'rotate-ca: restart pods that would not trust the new CA')
    addUpFlags(addRunFlags(command))
  },
  async run(context, { args, options }) {
    const [action = '', ...names] = args
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(formatFindings(findings))
      return exitCodes.failure
    }
    const invocation = { context, options, cluster, findings, args: names }
    return (await actions.get(action)?.(invocation)) ?? exitCodes.usage
  },
}
