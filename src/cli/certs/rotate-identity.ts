import { createKeyFile, readKeyFile, writeIdentity } from '../../identity/store.ts'
import { exitCodes } from '../command/command.ts'
import { buildIdentityPaths, openIdentity } from '../../workspace/load-identity.ts'
import { printResult } from '../command/print.ts'
import { type CertsAction, certsFlags } from './action.ts'

/**
 * `hyperkube certs rotate-key identity`: seals the identity with a new key, which is written to a new file.
 * The old key file is kept, because older snapshots can be opened only with the old key.
 */
export const rotateIdentityKey: CertsAction = async ({ context, options, cluster }) => {
  const { name } = cluster.metadata
  const paths = buildIdentityPaths(context, options, name)
  const file = certsFlags.parse(options).to ?? `${paths.key}.new`
  const identity = await openIdentity(context, options, name)
  // An existing key file is used: an interrupted run created the file, or several clusters share the key.
  const key = (await context.exists(file))
    ? await readKeyFile(context.privateFiles, file)
    : await createKeyFile(context.privateFiles, file)
  await writeIdentity(context.privateFiles, paths.identity, identity, key)
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'IdentityKeyResult',
    cluster: name,
    identity: paths.identity,
    key: file,
    previousKey: paths.key,
  }
  printResult(context.stdout, options.output, document, () =>
    [
      `${paths.identity} is now encrypted with ${file}; ${paths.key} no longer decrypts it\n`,
      `  → move ${paths.key} to a safe location, because earlier snapshots need it; then: mv ${file} ${paths.key}\n`,
      `  → ${paths.identity} has changed: commit it\n`,
    ].join(''),
  )
  return exitCodes.ok
}
