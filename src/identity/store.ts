import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { quoteShellIfNeeded } from '../kit/text.ts'
import type { PrivateFiles } from './private-files.ts'
import type { Identity } from './identity.ts'
import { type FileKey, formatKeyFile, makeSealingKey, parseKeyFile, type SealingKey } from './sealing-key.ts'
import { unsealIdentity, sealIdentity } from './seal.ts'

export async function readIdentity(files: PrivateFiles, path: string, key: SealingKey): Promise<Identity> {
  return unsealIdentity(await read(files, path, 'IDENTITY_NOT_READ'), key)
}

export async function writeIdentity(
  files: PrivateFiles,
  path: string,
  identity: Identity,
  key: SealingKey,
): Promise<void> {
  const text = await sealIdentity(identity, key)
  await files.replace(path, text).catch((cause: unknown) => {
    throw new HyperkubeError('IDENTITY_NOT_WRITTEN', `cannot write ${path}`, {
      hint: 'the previous file, if any, is unchanged',
      cause,
    })
  })
}

/** Reads a key file. Refuses one that other users can read, because they could take over the cluster. */
export async function readKeyFile(files: PrivateFiles, path: string): Promise<FileKey> {
  const text = await read(files, path, 'IDENTITY_KEY_NOT_READ')
  const mode = await files.mode(path)
  if (mode !== undefined && (mode & 0o077) !== 0) {
    const message = `other users can access the key file ${path} (mode ${mode.toString(8).padStart(4, '0')})`
    throw new HyperkubeError('IDENTITY_KEY_EXPOSED', message, {
      hint: `chmod 600 ${quoteShellIfNeeded(path)}`,
    })
  }
  return parseKeyFile(text)
}

/** Creates a sealing key and writes its file. An existing file is never overwritten. */
export async function createKeyFile(files: PrivateFiles, path: string): Promise<FileKey> {
  const key = makeSealingKey()
  await files.create(path, formatKeyFile(key)).catch((cause: unknown) => {
    throw new HyperkubeError('IDENTITY_KEY_NOT_WRITTEN', `cannot write the key file ${path}`, {
      hint: 'an existing key file is never overwritten',
      cause,
    })
  })
  return key
}

async function read(files: PrivateFiles, path: string, code: string): Promise<string> {
  try {
    return await files.read(path)
  } catch (cause) {
    const missing = hasCode(cause, 'ENOENT')
    throw new HyperkubeError(code, `${path} ${missing ? 'does not exist' : 'cannot be read'}`, {
      hint: `check the file: ls -l ${path}`,
      ...(missing ? {} : { cause }),
    })
  }
}
