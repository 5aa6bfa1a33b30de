/** How etcd's own program asks a member, on the host of that member; what it shall do comes behind. */
export const etcdctl =
  'cd /etc/hyperkube/etcd; /opt/hyperkube/etcd-*/etcdctl --cacert=ca.crt --cert=client.crt --key=client.key'
