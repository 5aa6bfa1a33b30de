import { hasCode, HyperkubeError } from '../kit/errors.ts'
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
    throw new HyperkubeError('IDENTITY_NOT_WRITTEN', `${path} could not be written`, {
      hint: 'the previous one, if any, is unchanged',
      cause,
    })
  })
}

export async function readKeyFile(files: PrivateFiles, path: string): Promise<FileKey> {
  return parseKeyFile(await read(files, path, 'IDENTITY_KEY_NOT_READ'))
}

/** Creates a sealing key and writes its file. An existing file is never overwritten. */
export async function createKeyFile(files: PrivateFiles, path: string): Promise<FileKey> {
  const key = makeSealingKey()
  await files.create(path, formatKeyFile(key)).catch((cause: unknown) => {
    throw new HyperkubeError('IDENTITY_KEY_NOT_WRITTEN', `the key file ${path} could not be written`, {
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
    throw new HyperkubeError(code, `${path} ${missing ? 'does not exist' : 'could not be read'}`, {
      hint: `look at ls -l ${path}`,
      ...(missing ? {} : { cause }),
    })
  }
}
