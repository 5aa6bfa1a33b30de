import { limitHosts } from '../../workspace/limit-hosts.ts'
import { runUp } from '../up/run-up.ts'
import { type CertsAction, certsFlags } from './action.ts'

/**
 * `hyperkube certs renew [HOST...]`: runs `up`, which renews certificates that are due. With --all, `up`
 * renews all certificates with new keys. Hosts are reached by ssh, so expired certificates do not matter.
 */
export const renewClusterCertificates: CertsAction = async ({
  context,
  options,
  cluster,
  findings,
  args,
}) => {
  const { all } = certsFlags.parse(options)
  const limit = limitHosts(cluster, args).map(({ name }) => name)
  const limitedOptions = args.length === 0 ? options : { ...options, limit }
  return runUp(context, limitedOptions, {
    command: 'certs renew',
    cluster,
    findings,
    renew: all,
    beforeCommit: true,
  })
}
