-- A shop: joins, groups, sorts, updates, of ROWS rows; SEED makes them others.
create table item(id integer primary key, kind int, name text, price real);
create table sale(id integer primary key, item int, count int, note text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < ROWS)
  insert into item select i, i * (7919 + SEED) % 1009, 'name' || (i * (31 + SEED) % 5003), i * 1.5
  from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < ROWS * 2)
  insert into sale select i, 1 + i * (17 + SEED) % ROWS, i * 13 % (997 + SEED), 'note' || i % 251
  from n;
create index item_kind on item(kind);
create index sale_item on sale(item);
select count(*), sum(price) from item where kind between 100 and 500;
select kind, count(*), avg(price) from item group by kind order by 2 desc, 1 limit 10;
select count(*) from item join sale on sale.item = item.id where kind < 300 and count > 100;
select note, sum(count), max(item) from sale group by note order by 2 desc limit 5;
select count(*) from item where name like '%4SEED%';
update item set price = price + 1, name = name || 'x' where kind % 3 = 0;
delete from sale where count % 7 = 0;
select count(distinct name), sum(length(name)) from item;
select upper(substr(name, 2, 4)) k, count(*) from item group by k order by 2 desc limit 5;
