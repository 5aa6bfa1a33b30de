import type { KeepOpenProgram } from '../system-master.ts'
import { encodePacket, sftpRequests } from './packet.ts'

/**
 * No Windows shell is certain to understand a command; the sftp server runs as long as its standard input is
 * open.
 */
export const keepOpenWithSftp: KeepOpenProgram = {
  args: (name) => ['-s', name, 'sftp'],
  initialInput: encodePacket(sftpRequests.init, 3),
  // Any version packet: the length, then the type.
  isReady: (output) => output.length >= 5,
}
