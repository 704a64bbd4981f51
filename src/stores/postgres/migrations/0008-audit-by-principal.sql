-- The entries of one principal, of one tenant or of all tenants, are read without those of the others.
CREATE INDEX audit_by_principal ON {schema}.audit (principal, pos) WHERE principal IS NOT NULL;
CREATE INDEX audit_by_tenant_and_principal ON {schema}.audit (tenant, principal, pos) WHERE principal IS NOT NULL;
