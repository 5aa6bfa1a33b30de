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
    ['hyperkube certs list', 'list certificates of all hosts with owner, expiry and renewal date'],
    ['hyperkube certs renew', 'show due and expired certificates, prompt, then renew'],
    ['hyperkube certs renew w1 w2 --all', 'renew all certificates of two hosts with new keys'],
    ['hyperkube certs rotate-ca etcd --dry-run', 'show changes of the next of three phases'],
    [
      'hyperkube certs rotate-ca kubernetes',
      'rotate the Kubernetes CA: trust both, switch, distrust the previous CA',
    ],
    [
      'hyperkube certs rotate-ca all --yes --restart-pods',
      'rotate all three CAs and restart pods without the new CA',
    ],
    ['hyperkube certs rotate-key encryption', 'rotate the encryption key and re-encrypt all Secrets in etcd'],
    [
      'hyperkube certs rotate-key service-account',
      'rotate the token signing key; run again after 1h to drop the previous key',
    ],
    ['hyperkube certs rotate-key identity', 're-encrypt cluster.identity with a new key'],
  ],
  identity: true,
  configure(command) {
    command
      .addArgument(new Argument('<action>', 'action to run').choices([...actions.keys()]))
      .addArgument(
        new Argument(
          '[name...]',
          'list, renew: hosts (default: all); rotate-ca: CA (default: all); rotate-key: key',
        ),
      )
      .option('--all', 'renew: include certificates that are not due')
      .option(
        '--to <file>',
        'rotate-key identity: write the new key to this file (default: beside the previous key)',
      )
      .option('--restart-pods', 'rotate-ca: restart pods that do not trust the new CA')
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
